"""What imitates the outside world, for demo and tests."""
