// Words to search by. They reach the address once the typing pauses, so that not every letter is a search.
import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { useShortcuts } from '@/app/useShortcuts';

type Props = { value: string; label: string; placeholder: string; onChange: (words: string) => void };

const PAUSE_MS = 250;

export function SearchField({ value, label, placeholder, onChange }: Props) {
  const [typed, setTyped] = useState(value);
  const field = useRef<HTMLInputElement>(null);
  const sent = useRef(value);
  const send = useDebouncedCallback((words: string) => {
    sent.current = words.trim();
    onChange(sent.current);
  }, PAUSE_MS);
  // Back, forward and "clear filters" change the words from outside.
  useEffect(() => {
    if (value === sent.current) return;
    sent.current = value;
    setTyped(value);
  }, [value]);
  useShortcuts([{ keys: '/', label, run: () => field.current?.focus() }]);
  return (
    <TextInput
      ref={field}
      type="search"
      label={label}
      placeholder={placeholder}
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        send(event.currentTarget.value);
      }}
      leftSection={<IconSearch size={14} aria-hidden />}
      maxLength={4000}
      flex="1 1 200px"
      miw={0}
    />
  );
}
