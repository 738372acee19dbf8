"""What is handed out: wheel, source distribution, an installation of them, and the files to deploy them by."""
