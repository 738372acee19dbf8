"""Commands about what agents did."""
