// The drawing of Markdown as React elements.
import ReactMarkdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { addressesIn } from './addresses';
import { memoryPage } from './reference';
import { TextLink } from './TextLink';
import classes from './Markdown.module.css';

const ALLOWED =
  'a blockquote br code del em h1 h2 h3 h4 h5 h6 hr li ol p pre strong table tbody td th thead tr ul'.split(' ');

const NOTES = '/ui/m/';

// Headings of a text lie below those of the page.
const COMPONENTS: Components = {
  a: ({ href, children }) =>
    href?.startsWith(NOTES) ? (
      <TextLink to={href}>{children}</TextLink>
    ) : href ? (
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

/** Addresses that may be followed: the web's own, mail, places on this page, and notes. */
export function safeHref(href: string): string {
  const note = addressesIn(href);
  if (note.length === 1 && note[0]?.address) return memoryPage(href) ?? '';
  return /^(?:https?:\/\/|mailto:|#)/i.test(href) ? href : '';
}

type Node = { type: string; value?: string; url?: string; children?: Node[] };

/** Addresses of notes become links to them, in words and where they stand alone as code. */
function linkAddresses() {
  return (tree: Node) => walk(tree);
}

function walk(node: Node) {
  if (node.type === 'link' || !node.children) return;
  node.children = node.children.flatMap((child) => {
    walk(child);
    if ((child.type !== 'text' && child.type !== 'inlineCode') || !child.value) return [child];
    const pieces = addressesIn(child.value);
    if (child.type === 'inlineCode' && pieces.length > 1) return [child];
    return pieces.map(({ text, address }) => {
      const said: Node = { type: child.type, value: text };
      return address ? { type: 'link', url: text, children: [said] } : said;
    });
  });
}

export function MarkdownDrawing({ text }: { text: string }) {
  return (
    <div className={`${classes['markdown']} anywhere`} dir="auto">
      <ReactMarkdown
        remarkPlugins={[remarkGfm, linkAddresses]}
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
