// A link inside the application whose text is words, not a reference.
import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

export function TextLink({ to, children }: { to: string; children: ReactNode }) {
  const [path = '', query = ''] = to.split('?');
  return (
    <Anchor
      inherit
      onClick={(event) => event.stopPropagation()}
      renderRoot={(props) => (
        <Link {...props} to={path} search={Object.fromEntries(new URLSearchParams(query)) as never} />
      )}
    >
      {children}
    </Anchor>
  );
}
