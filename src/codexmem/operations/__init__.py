"""Running the program: status, backups, keys, repairs, doctor."""
