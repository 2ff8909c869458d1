/** What stands in the place of something that is gone from a list. */
export interface Successor {
  name: string;
  /** Whether it is the same under another name, as far as the names tell. */
  isRenamed: boolean;
}

/** What took the place of `name`, or stands nearest to it now; nothing if it is not gone. */
export function inPlaceOf(name: string, before: string[], after: string[]): Successor | null {
  const at = before.indexOf(name);
  if (at < 0 || after.includes(name)) return null;
  const found = after[Math.min(at, after.length - 1)];
  if (found === undefined) return null;
  return { name: found, isRenamed: after.length === before.length && !before.includes(found) };
}
