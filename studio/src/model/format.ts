import type { Json } from '../api/types';

export function duration(ms: number | null): string {
  if (ms === null) return '';
  if (ms < 1) return `${Math.max(Math.round(ms * 1000), 0)} µs`;
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  const minutes = Math.floor(ms / 60_000);
  return `${minutes} min ${Math.round((ms % 60_000) / 1000)} s`;
}

export function bytes(size: number): string {
  if (size < 1024) return `${size} bytes`;
  if (size < 1024 * 1024) return `${(size / 1024).toFixed(1)} KiB`;
  return `${(size / 1024 / 1024).toFixed(1)} MiB`;
}

/** The time of day of today, the date of other days. */
export function moment(text: string, now = new Date()): string {
  const date = new Date(text);
  const time = date.toLocaleTimeString([], {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  });
  if (date.toDateString() === now.toDateString()) return time;
  return `${date.toLocaleDateString([], { day: 'numeric', month: 'short' })} ${time}`;
}

export function plural(count: number, word: string, words = `${word}s`): string {
  return `${count} ${count === 1 ? word : words}`;
}

export function pretty(value: Json | undefined): string {
  return value === undefined ? '' : JSON.stringify(value, null, 2);
}

/** How long a value may be to stand in one line. */
const LINE = 44;

/** The value as JSON, in one line what fits into one. */
export function compact(value: Json, indent = ''): string {
  const line = JSON.stringify(value);
  const fits = line.length + indent.length <= LINE;
  if (typeof value !== 'object' || value === null || fits) return line;
  const inner = `${indent}  `;
  const isList = Array.isArray(value);
  const members = isList
    ? value.map((item) => compact(item, inner))
    : Object.entries(value).map(
        ([key, member]) => `${JSON.stringify(key)}: ${compact(member, inner)}`,
      );
  const [open, close] = isList ? '[]' : '{}';
  return `${open}\n${inner}${members.join(`,\n${inner}`)}\n${indent}${close}`;
}

/** The last part of a path. */
export function fileName(path: string): string {
  return path.split(/[\\/]/).at(-1) ?? path;
}

/** A text of several lines in one. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** A name as it is shown: one of which nothing would be seen has words in its place. */
export function named(name: string): string {
  return /[^\s\p{C}\p{Default_Ignorable_Code_Point}]/u.test(name) ? name : '(no visible name)';
}

/** Whether a file in YAML says nothing: it has no lines, or only comments. */
export function isBlank(text: string): boolean {
  return text.split('\n').every((line) => /^\s*(#.*)?$/.test(line));
}
