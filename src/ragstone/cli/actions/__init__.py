"""What each command does. The files beside this folder declare the options."""
