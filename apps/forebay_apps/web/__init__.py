"""What both apps are made of: settings, people, pages, errors, and how the database is reached."""
