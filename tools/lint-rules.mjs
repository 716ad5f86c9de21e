/**
 * What no rule of the linter holds (oxlint.config.mjs). Planted and caught in test/architecture/rules.integration.spec.ts.
 */

/** A rule with one message. `visitor` gets the function that reports a node. */
const rule = (message, visitor) => ({
  create: (context) => visitor((node) => context.report({ node, message })),
});

const isDate = ({ type, name }) => type === 'Identifier' && name === 'Date';

export default {
  meta: { name: 'own' },
  rules: {
    'no-current-date': rule(
      'Take the time as an argument: this code must decide the same in a replay.',
      (report) => ({
        NewExpression: (node) => isDate(node.callee) && node.arguments.length === 0 && report(node),
        CallExpression: (node) => isDate(node.callee) && report(node),
      }),
    ),
  },
};
