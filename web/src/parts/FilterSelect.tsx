// One of a few words that narrow a list, or none of them.
import { Select } from '@mantine/core';

type Props<T extends string> = {
  label: string;
  /** The name is heard and not seen. */
  bare?: boolean;
  /** What stands for no choice. */
  unset: string;
  words: readonly T[];
  nameOf: (word: T) => string;
  value: T | '';
  onChange: (word: T | '') => void;
  w: number;
};

export function FilterSelect<T extends string>({ label, bare, unset, words, nameOf, value, onChange, w }: Props<T>) {
  return (
    <Select
      {...(bare ? { 'aria-label': label } : { label })}
      w={w}
      allowDeselect={false}
      value={value}
      onChange={(chosen) => onChange(words.find((each) => each === chosen) ?? '')}
      data={[{ value: '', label: unset }, ...words.map((word) => ({ value: word, label: nameOf(word) }))]}
    />
  );
}
