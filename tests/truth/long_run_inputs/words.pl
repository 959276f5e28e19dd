# Regular expressions, die and eval, closures, sorting by functions, signals; for tests/truth/long_runs.
use strict;
use warnings;
no warnings 'recursion';

sub dive {
    my ($depth) = @_;
    die { depth => $depth } if $depth == 0;
    my $result = eval { dive($depth - 1) };
    return $result if defined $result;
    die $@ if $depth % 5;
    return $@->{depth} + $depth;
}

my $signals = 0;
local $SIG{USR1} = sub { $signals++; eval { die "in a handler\n" }; };
my %words;
my $text = join ' ', map { "word" . ($_ * 37 % 101) . ($_ % 3 ? 'x' : 'yz') } 1 .. 3000;
while ($text =~ /(\w+?)(\d+)([xyz]+)/g) { $words{$3}{$2}++; }
my @sorted = sort { $words{x}{$b} <=> $words{x}{$a} || $a cmp $b } keys %{ $words{x} };
my $total = 0;
for my $depth (1 .. 160) {
    my $result = eval { dive($depth) };
    $total += $result // 1;
    kill 'USR1', $$ if $depth % 4 == 0;
    (my $copy = $sorted[0] . "-$depth") =~ s/(\d)/$1 * 2/ge;
    $total += length $copy;
}
print "$total $signals $#sorted\n";
exit($signals == 40 ? 0 : 1);
