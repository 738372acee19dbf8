"""What tests of pages look at, made through the doors that everybody uses."""
