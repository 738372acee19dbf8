// The pages of one area beside each other, as links: each has an address of its own.
import { Badge } from '@mantine/core';
import { Link, useLocation } from '@tanstack/react-router';
import classes from './AreaNav.module.css';

type Props = { label: string; pages: readonly { to: string; name: string; badge?: string | undefined }[] };

export function AreaNav({ label, pages }: Props) {
  const { pathname } = useLocation();
  // The page itself, or the one whose address begins that of a page below it: the longest that fits.
  const [current] = pages
    .filter(({ to }) => pathname === to || pathname.startsWith(`${to}/`))
    .sort((a, b) => b.to.length - a.to.length);
  return (
    <nav aria-label={label} className={classes['nav']}>
      {pages.map(({ to, name, badge }) => (
        <Link
          key={to}
          to={to}
          className={classes['link']}
          activeOptions={{ exact: true, includeSearch: false }}
          data-current={current?.to === to || undefined}
        >
          {name}
          {badge && <Badge color="blue">{badge}</Badge>}
        </Link>
      ))}
    </nav>
  );
}
