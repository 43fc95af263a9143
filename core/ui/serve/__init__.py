"""What a deployed site needs: who visits, what they may use, limits, and turns."""
