import type { Json, JsonObject } from '../api/types';
import { example, type Field, fields, isObject, parse, parseJson } from './schema';

/** What somebody filled in, complete or not. */
export interface Form {
  input: JsonObject;
  /** What was typed into fields, as it was typed: it may not be a value yet. */
  typed: Record<string, string>;
  /** All of it as one text, while it is written so. */
  raw: string | null;
}

/** A form before anybody has typed into it. */
export const formWith = (input: JsonObject): Form => ({ input, typed: {}, raw: null });

/** The form of a schema with what is in it at first. */
export const firstForm = (schema: JsonObject, recent: JsonObject | undefined): Form =>
  formWith(recent ?? example(schema));

/** The form with another value of a field; `undefined` leaves it out. */
export function put(form: Form, name: string, value: Json | undefined): Form {
  const { [name]: _, ...rest } = form.input;
  return { ...form, input: value === undefined ? rest : { ...form.input, [name]: value } };
}

/** The form after typing into a field: its value stays what it was until the text says another. */
export function type(form: Form, field: Field, text: string): Form {
  const typed = { ...form, typed: { ...form.typed, [field.name]: text } };
  const now = parse(field, text);
  return 'value' in now ? put(typed, field.name, now.value) : typed;
}

/** The form after typing all of it as one text. */
export function typeAll(form: Form, text: string): Form {
  const now = readAll(text);
  // What was typed into the fields before is about other values.
  return 'value' in now ? { input: now.value, typed: {}, raw: text } : { ...form, raw: text };
}

export function readAll(text: string): { value: JsonObject } | { error: string } {
  const now = parseJson(text);
  if ('error' in now) return now;
  return isObject(now.value)
    ? { value: now.value }
    : { error: 'All arguments together are one object, such as {"name": "value"}.' };
}

/** What keeps the form from being sent, by the names of its fields; all as one text has no name. */
export function faults(schema: JsonObject, { input, typed, raw }: Form): Map<string, string> {
  const found = new Map<string, string>();
  if (raw !== null) {
    const now = readAll(raw);
    // Whoever writes it all may leave out what is required, to see what comes of it.
    return 'error' in now ? found.set('', now.error) : found;
  }
  for (const field of fields(schema)) {
    const text = typed[field.name];
    const now = text === undefined ? null : parse(field, text);
    if (now && 'error' in now) found.set(field.name, now.error);
    else if (field.required && input[field.name] === undefined && field.control !== 'flag') {
      found.set(field.name, 'This is required.');
    }
  }
  return found;
}
