// The frame of a page: document title, one h1 that takes the focus after a navigation, description and actions.
import { Box, Group, Text, Title } from '@mantine/core';
import { useEffect, useRef, type ReactNode } from 'react';
import classes from './Page.module.css';

type Props = { title: string; description?: ReactNode; actions?: ReactNode; children?: ReactNode };

let arrived = false; // the first page after loading leaves the focus where the browser put it

export function Page({ title, description, actions, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · codexmem`;
  }, [title]);
  useEffect(() => {
    if (arrived) heading.current?.focus({ preventScroll: true });
    arrived = true;
  }, []);
  return (
    <div className={classes['page']}>
      <Group justify="space-between" align="flex-start" gap="sm" className={classes['head']}>
        <Box miw={0}>
          <Title order={1} ref={heading} tabIndex={-1} className={classes['title']}>
            {title}
          </Title>
          {description && (
            <Text size="sm" c="dimmed" component="div">
              {description}
            </Text>
          )}
        </Box>
        {actions && <Group gap="sm">{actions}</Group>}
      </Group>
      {children}
    </div>
  );
}
