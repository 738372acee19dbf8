// The drawing of Markdown as React elements.
import ReactMarkdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import classes from './Markdown.module.css';

const ALLOWED = [
  'a',
  'blockquote',
  'br',
  'code',
  'del',
  'em',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'hr',
  'li',
  'ol',
  'p',
  'pre',
  'strong',
  'table',
  'tbody',
  'td',
  'th',
  'thead',
  'tr',
  'ul',
];

// Headings of a text lie below those of the page.
const COMPONENTS: Components = {
  a: ({ href, children }) =>
    href ? (
      <a href={href} rel="noopener noreferrer nofollow" target="_blank">
        {children}
      </a>
    ) : (
      <span>{children}</span>
    ),
  h1: ({ children }) => <h3>{children}</h3>,
  h2: ({ children }) => <h4>{children}</h4>,
  h3: ({ children }) => <h5>{children}</h5>,
  h4: ({ children }) => <h6>{children}</h6>,
  h5: ({ children }) => <h6>{children}</h6>,
  table: ({ children }) => (
    <div className={classes['scroll']} tabIndex={0}>
      <table>{children}</table>
    </div>
  ),
};

/** Addresses that may be followed: the web's own, mail, and places on this page. */
export function safeHref(href: string): string {
  return /^(?:https?:\/\/|mailto:|#)/i.test(href) ? href : '';
}

export function MarkdownDrawing({ text }: { text: string }) {
  return (
    <div className={classes['markdown']} dir="auto">
      <ReactMarkdown
        remarkPlugins={[remarkGfm]}
        allowedElements={ALLOWED}
        unwrapDisallowed
        skipHtml={false}
        urlTransform={safeHref}
        components={COMPONENTS}
      >
        {text}
      </ReactMarkdown>
    </div>
  );
}
