"""What happened: appending to the log, following it live, reporting on it, letting it fade."""
