"""Commands that find, show, explain, undo and erase memories."""
