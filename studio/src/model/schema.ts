import type { Json, JsonObject } from '../api/types';

/** A field of a form that a JSON Schema describes. */
export interface Field {
  name: string;
  title: string;
  description: string | null;
  required: boolean;
  /** How it is filled in; `json` for everything without a control of its own. */
  control: 'text' | 'number' | 'flag' | 'choice' | 'json';
  choices: Json[];
  integer: boolean;
  schema: JsonObject;
}

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function fields(schema: JsonObject | undefined): Field[] {
  const properties = schema?.properties;
  if (!isObject(properties)) return [];
  const required = Array.isArray(schema?.required) ? schema.required : [];
  return Object.entries(properties).map(([name, property]) => {
    const described = isObject(property) ? property : {};
    const choices = choicesOf(described);
    return {
      name,
      title: typeof described.title === 'string' ? described.title : name,
      description: typeof described.description === 'string' ? described.description : null,
      required: required.includes(name),
      control: control(described, choices),
      choices,
      integer: described.type === 'integer',
      schema: described,
    };
  });
}

/** The values that a schema names one by one. */
function choicesOf(schema: JsonObject): Json[] {
  if (schema.const !== undefined) return [schema.const];
  return Array.isArray(schema.enum) ? schema.enum : [];
}

function control(schema: JsonObject, choices: Json[]): Field['control'] {
  if (choices.length > 0) return 'choice';
  switch (schema.type) {
    case 'string':
      return 'text';
    case 'number':
    case 'integer':
      return 'number';
    case 'boolean':
      return 'flag';
    default:
      return 'json';
  }
}

/** A first value for every field that has one to begin with; texts are for people to write. */
export function example(schema: JsonObject | undefined): JsonObject {
  const value: JsonObject = {};
  for (const field of fields(schema)) {
    const first = firstValue(field);
    if (first !== undefined) value[field.name] = first;
  }
  return value;
}

function firstValue(field: Field): Json | undefined {
  const { schema } = field;
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined) return schema.default;
  const examples = schema.examples;
  if (Array.isArray(examples) && examples[0] !== undefined) return examples[0];
  if (!field.required) return undefined;
  switch (field.control) {
    case 'choice':
      return field.choices[0];
    case 'number':
      return typeof schema.minimum === 'number' ? schema.minimum : 0;
    case 'flag':
      return false;
    case 'text':
      return undefined;
    case 'json':
      return schema.type === 'array' ? [] : schema.type === 'object' ? {} : undefined;
  }
}

/** What is typed into a field, as a value; `undefined` leaves it out. */
export function parse(
  field: Field,
  typed: string,
): { value: Json | undefined } | { error: string } {
  if (typed === '' && !field.required) return { value: undefined };
  if (field.control === 'text') return { value: typed };
  if (field.control === 'number') {
    const number = Number(typed);
    if (typed.trim() === '' || !Number.isFinite(number))
      return { error: 'This needs to be a number.' };
    if (field.integer && !Number.isInteger(number))
      return { error: 'This needs to be a whole number.' };
    return { value: number };
  }
  return parseJson(typed);
}

export function parseJson(typed: string): { value: Json } | { error: string } {
  try {
    return { value: JSON.parse(typed) as Json };
  } catch (error) {
    return { error: error instanceof Error ? error.message : 'This is not JSON.' };
  }
}
