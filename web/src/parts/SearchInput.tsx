// Words to search by. They are told once the typing pauses, so that not every letter is a search.
import { TextInput, type TextInputProps } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import type { Ref } from 'react';
import { useTyped } from './useTyped';

type Props = Omit<TextInputProps, 'value' | 'onChange' | 'label' | 'type' | 'leftSection'> & {
  value: string;
  /** What it is called; without a placeholder of its own it is heard and not seen. */
  label: string;
  onChange: (words: string) => void;
  ref?: Ref<HTMLInputElement>;
};

export function SearchInput({ value, label, placeholder, onChange, ...rest }: Props) {
  const [typed, setTyped] = useTyped(value, onChange);
  return (
    <TextInput
      type="search"
      {...(placeholder ? { label, placeholder } : { 'aria-label': label, placeholder: label })}
      leftSection={<IconSearch size={14} aria-hidden />}
      maxLength={2_000}
      value={typed}
      onChange={(event) => setTyped(event.currentTarget.value)}
      {...rest}
    />
  );
}
