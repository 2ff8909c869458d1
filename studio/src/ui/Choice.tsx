/** Choices of lists of things that took their time. */
export const SLOW = [
  { value: '', label: 'any duration' },
  { value: '100', label: 'slower than 100 ms' },
  { value: '1000', label: 'slower than 1 s' },
  { value: '10000', label: 'slower than 10 s' },
];
export const SINCE = [
  { value: '', label: 'any time' },
  { value: '3600000', label: 'the last hour' },
  { value: '86400000', label: 'the last day' },
  { value: '604800000', label: 'the last week' },
];

interface Props {
  label: string;
  value: string;
  choices: { value: string; label: string }[];
  onChange: (value: string) => void;
}

/** A filter with a few choices. */
export function Choice({ label, value, choices, onChange }: Props) {
  return (
    <select
      className="select narrow"
      aria-label={label}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    >
      {choices.map((choice) => (
        <option key={choice.value} value={choice.value}>
          {choice.label}
        </option>
      ))}
    </select>
  );
}
