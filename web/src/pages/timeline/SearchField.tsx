// Words to search a list by, reached with /.
import { useRef, type ComponentProps } from 'react';
import { useShortcuts } from '@/app/useShortcuts';
import { SearchInput } from '@/parts/SearchInput';

export function SearchField({ label, ...rest }: ComponentProps<typeof SearchInput>) {
  const field = useRef<HTMLInputElement>(null);
  useShortcuts([{ keys: '/', label, run: () => field.current?.focus() }]);
  return <SearchInput ref={field} label={label} maxLength={4000} flex="1 1 200px" miw={0} {...rest} />;
}
