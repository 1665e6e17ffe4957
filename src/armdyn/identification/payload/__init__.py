"""What an arm carries, and how elastic its joints are."""
