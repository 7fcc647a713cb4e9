"""What depends on who else is in the batch."""
