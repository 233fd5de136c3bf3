// Português: gráficos de linhas.

export default {
  chart: {
    kind: { line: "Linha", bars: "Barras" },
    across: "Ao longo de",
    up: "Altura",
    every: "Todos os números",
    broken: "O gráfico não pôde ser carregado. As linhas estão abaixo.",
    said: (kind, ys, x, count) => `${kind} de ${ys} por ${x}, ${count} pontos. A tabela abaixo tem os valores.`,
  },
};
