"""Find fields and line items by the words and numbers of a page, without any model."""
