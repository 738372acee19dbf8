"""What tests of pages look at, made through the endpoints that everybody uses."""
