"""Raw English text to RST discourse tree to summary."""
