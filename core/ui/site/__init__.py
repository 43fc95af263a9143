"""What a deployed site needs: who visits, what is allowed, bounds, and turns."""
