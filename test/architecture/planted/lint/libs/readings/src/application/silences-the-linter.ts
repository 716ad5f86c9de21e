// caught by: eslint(no-console): console
// eslint-disable-next-line no-console
console.log('a rule that must be switched off in one place is wrong, or the place is');
