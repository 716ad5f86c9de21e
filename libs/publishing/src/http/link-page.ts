import type { Request, Response } from 'express';
import { Problem, helpOf, type ProblemCode } from '#platform/http/problem.js';

interface Words {
  readonly title: string;
  readonly text: string;
}

/** What a link that gives nothing says to a person. */
const PAGES: Partial<Record<ProblemCode, { readonly fr: Words; readonly en: Words }>> = {
  link_expired: {
    fr: {
      title: 'Ce lien a expiré',
      text: 'Demandez un nouveau lien à la personne qui vous l’a envoyé.',
    },
    en: { title: 'This link has expired', text: 'Ask the person who sent it to you for another one.' },
  },
  link_not_found: {
    fr: {
      title: 'Ce lien ne mène à aucun document',
      text: 'Vérifiez qu’il est complet, ou demandez un nouveau lien à la personne qui vous l’a envoyé.',
    },
    en: {
      title: 'This link leads to no document',
      text: 'Check that it is complete, or ask the person who sent it to you for another one.',
    },
  },
  document_not_available: {
    fr: {
      title: 'Le document n’est pas disponible',
      text: 'Demandez-le à la personne qui vous a envoyé le lien.',
    },
    en: { title: 'The document is not available', text: 'Ask the person who sent you the link for it.' },
  },
};

const section = (lang: string, { title, text }: Words): string =>
  `<section lang="${lang}"><h1>${title}</h1><p>${text}</p></section>`;

const pageOf = ({ fr, en }: { readonly fr: Words; readonly en: Words }): string => `<!doctype html>
<html lang="fr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${fr.title} – ${en.title}</title>
<style>
:root { color-scheme: light dark; font: 1.125rem/1.5 system-ui, sans-serif }
body { max-width: 34rem; margin: 15vh auto 2rem; padding: 0 1.25rem }
h1 { font-size: 1.375rem; margin: 2.5rem 0 0.5rem }
p { margin: 0 }
</style>
</head>
<body><main>${section('fr', fr)}${section('en', en)}</main></body>
</html>
`;

/** Whether the caller prefers a page, as browsers do. A program that takes anything gets a problem. */
const prefersPage = (request: Request): boolean =>
  request.accepts(['application/problem+json', 'application/json', 'text/html']) === 'text/html';

/**
 * Answers a browser with a page in French and English instead of a problem, with the same status. It loads nothing.
 * @returns whether it did: not for other callers, other problems and other errors
 */
export const refuseInWords = (request: Request, response: Response, error: unknown): boolean => {
  const words = error instanceof Problem ? PAGES[error.code] : undefined;
  if (!(error instanceof Problem) || !words || !prefersPage(request)) return false;
  const page = pageOf(words);
  response.status(error.status);
  response.setHeader('Link', helpOf(error));
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(page));
  response.end(page);
  return true;
};
