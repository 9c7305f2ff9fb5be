"""What the tests of the web apps share."""
