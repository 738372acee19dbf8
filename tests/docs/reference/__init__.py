"""The reference pages, made from the code and the published descriptions, in both languages."""
