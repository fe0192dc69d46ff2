"""From a case of statics to its result: stages on the way, facts in the end. One file a family of analyses."""
