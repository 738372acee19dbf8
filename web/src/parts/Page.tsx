// The frame of a page: document title, one h1 that takes the focus after a navigation, description and actions.
import { Skeleton, Title } from '@mantine/core';
import { useEffect, useRef, type ReactNode } from 'react';
import classes from './Page.module.css';

type Props = {
  title: string;
  description?: ReactNode;
  actions?: ReactNode;
  /** What the page is about is on its way: what will stand below would only be moved by it. */
  pending?: boolean;
  children?: ReactNode;
};

let arrived = false; // the first page after loading leaves the focus where the browser put it

export function Page({ title, description, actions, pending, children }: Props) {
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
      <div className={classes['head']}>
        <Title order={1} ref={heading} tabIndex={-1} className={`${classes['title']} anywhere`}>
          {title}
        </Title>
        {actions && <div className={classes['actions']}>{actions}</div>}
        {description && (
          // A sentence about the page is for those who have room for it.
          <div className={classes['description']} data-sentence={typeof description === 'string' || undefined}>
            {description}
          </div>
        )}
      </div>
      {pending ? <Skeleton h={320} aria-busy /> : children}
    </div>
  );
}
