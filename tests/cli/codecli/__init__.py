"""The commands of `mem-codecli`, in a home of their own."""
