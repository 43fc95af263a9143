"""What a stranger may send, each attack run in a child process whose memory is limited."""
