"""What a deployed site needs: who is visiting, what they may use, limits, and turns."""
