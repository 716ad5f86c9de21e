/**
 * Rules of our own for the linter (oxlint.config.mjs). Each has planted violations in test/architecture/planted/lint.
 */

const LOCAL_GETTERS =
  /^(getTimezoneOffset|(get|set)(FullYear|Month|Date|Day|Hours|Minutes|Seconds)|toLocale(Date|Time)?String|toLocale(Upper|Lower)Case)$/;

/** A rule with one message. `visitor` gets the function that reports a node. */
const rule = (message, visitor) => ({
  create: (context) => visitor((node) => context.report({ node, message })),
});

/**
 * Whether Nest may read the type at run time: it is in the signature of a member of a class that has decorators, itself
 * or on the member or its parameters.
 */
const isInDecoratedSignature = (identifier) => {
  for (let node = identifier; node && node.type !== 'BlockStatement'; node = node.parent) {
    if (node.type !== 'MethodDefinition' && node.type !== 'PropertyDefinition') continue;
    const decorated = [node, node.parent.parent, ...(node.value?.params ?? [])];
    return decorated.some(({ decorators }) => decorators?.length > 0);
  }
  return false;
};

/** @returns whether nothing uses the imported name but types that are gone at run time */
const isOnlyAType = ({ references }) =>
  references.length > 0 &&
  references.every(
    (reference) =>
      reference.isTypeReference &&
      !reference.isValueReference &&
      !isInDecoratedSignature(reference.identifier),
  );

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
    'no-local-time': rule("The answer would depend on the machine's time zone or language.", (report) => ({
      MemberExpression: (node) => LOCAL_GETTERS.test(node.property.name) && report(node),
    })),
    /** As the rule consistent-type-imports, which does not know of `emitDecoratorMetadata`. */
    'type-imports': {
      create: (context) => ({
        ImportDeclaration(declaration) {
          if (declaration.importKind === 'type') return;
          for (const specifier of declaration.specifiers) {
            if (specifier.importKind === 'type') continue;
            const [variable] = context.sourceCode.getDeclaredVariables(specifier);
            if (isOnlyAType(variable))
              context.report({
                node: specifier,
                message: `Only used as a type: import type ${variable.name}.`,
              });
          }
        },
      }),
    },
    'no-package-import-call': rule(
      'A bundle loses the names of a CommonJS package here: re-export them from a module, and load that.',
      (report) => ({
        ImportExpression: (node) =>
          typeof node.source.value === 'string' &&
          !/^(node:|[.]|@app[/])/.test(node.source.value) &&
          report(node),
      }),
    ),
  },
};
