import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { notify, useNotices, wentWell } from './notices';

const texts = () => useNotices.getState().notices.map(({ text }) => text);

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  vi.runAllTimers();
  vi.useRealTimers();
});

it('what went wrong is no news once the same went well', () => {
  notify('error', 'the file is locked', 'save');
  notify('error', 'there is no such tool', 'run');
  wentWell('run');
  expect(texts()).toEqual(['the file is locked']);
  notify('success', 'Saved', 'save');
  expect(texts()).toEqual(['Saved']);
});

it('errors stay longer than other notices, and not for ever', () => {
  notify('error', 'it went wrong');
  notify('info', 'by the way');
  vi.advanceTimersByTime(5000);
  expect(texts()).toEqual(['it went wrong']);
  vi.advanceTimersByTime(15_000);
  expect(texts()).toEqual([]);
});
