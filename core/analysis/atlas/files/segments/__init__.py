"""What a search reads of a large atlas: some parts together, without their points.

Opening a thousand tables takes longer than looking through them, so a folder has a few files with
the tokens and sentences of many parts each. What they have is in the parts, too.
"""

from core.analysis.atlas.files.segments.reading import MAX_SEGMENT, Segment, segment_file
from core.analysis.atlas.files.segments.writing import SEGMENT_TOKENS, write_segments

__all__ = ["MAX_SEGMENT", "SEGMENT_TOKENS", "Segment", "segment_file", "write_segments"]
