// What the page's policy needs: the nonce for style elements, and the one rule for text that becomes markup. Libraries
// may set style sheets that way; anything that could hold a tag is refused, wherever it comes from.
type Policies = { createPolicy(name: string, rules: { createHTML: (text: string) => string | null }): unknown };

declare global {
  interface Window {
    trustedTypes?: Policies;
    /** Read by libraries that add style elements of their own. */
    __webpack_nonce__?: string;
  }
}

export const styleNonce = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? '';
window.__webpack_nonce__ = styleNonce;

/** Text without the beginning of a tag or an entity cannot become markup. */
export function plainOnly(text: string): string | null {
  return /[<&]/.test(text) ? null : text;
}

window.trustedTypes?.createPolicy('default', { createHTML: plainOnly });
