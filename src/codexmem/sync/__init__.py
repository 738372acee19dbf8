"""Notes, approved answers and approved lessons of a project as Markdown files in its repository, in step both ways."""
