import { describe, expect, it } from 'vitest';
import { faults, firstForm, type, typeAll } from './form';
import { fields } from './schema';

const SCHEMA = {
  type: 'object',
  properties: {
    path: { type: 'string' },
    count: { type: 'integer', default: 3 },
    kind: { const: 'thing' },
  },
  required: ['path'],
};
const [path, count] = fields(SCHEMA);
if (!path || !count) throw new Error('the schema has them');

describe('a form', () => {
  it('begins with what was given last, or with what the schema says', () => {
    expect(firstForm(SCHEMA, { path: 'a' }).input).toEqual({ path: 'a' });
    expect(firstForm(SCHEMA, undefined).input).toEqual({ count: 3, kind: 'thing' });
  });

  it('says what is missing, until it is there', () => {
    const form = firstForm(SCHEMA, undefined);
    expect([...faults(SCHEMA, form)]).toEqual([['path', 'This is required.']]);
    expect(faults(SCHEMA, type(form, path, 'a')).size).toBe(0);
    // A text that was typed and taken away again is an empty text.
    expect(type(type(form, path, 'a'), path, '').input.path).toBe('');
  });

  it('keeps what is no value as it was typed, and is not ready with it', () => {
    const form = type(firstForm(SCHEMA, { path: 'a', count: 4 }), count, '4x');
    expect(form.typed.count).toBe('4x');
    expect([...faults(SCHEMA, form).keys()]).toEqual(['count']);
    expect(faults(SCHEMA, type(form, count, '5')).size).toBe(0);
  });

  it('can be written as one text, which is an object', () => {
    const form = firstForm(SCHEMA, undefined);
    expect(typeAll(form, '{"path": "b"}').input).toEqual({ path: 'b' });
    expect(faults(SCHEMA, typeAll(form, '{"path":')).has('')).toBe(true);
    expect(faults(SCHEMA, typeAll(form, '3')).has('')).toBe(true);
    expect(typeAll(form, '{"path":').input).toEqual(form.input);
  });
});
