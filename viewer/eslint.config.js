// SPDX-License-Identifier: MIT OR Apache-2.0
import tseslint from 'typescript-eslint'

const markup = ['innerHTML', 'outerHTML', 'insertAdjacentHTML']

export default tseslint.config(
  { ignores: ['build', 'node_modules'] },
  ...tseslint.configs.strict,
  ...tseslint.configs.stylistic,
  {
    rules: {
      // Texts of documents are never markup.
      'no-restricted-properties': ['error', ...markup.map((property) => ({ property }))],
      'no-restricted-syntax': [
        'error',
        ...markup.map((name) => ({ selector: `MemberExpression[property.name="${name}"]`, message: 'use textContent' })),
      ],
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/consistent-type-definitions': 'off',
    },
  },
)
