"""What the page of heads that sort patches alone has."""
