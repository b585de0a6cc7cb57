"""The machine code of stub.c, written by tools/derive_stub.py: bytes in base 85 and where its functions begin."""

CODE = {
    "x86_64": (
        (
            "RY-~DNQ30?NP+Bt0001q1SCj_d?W}+iF70oNQqP=7)XgsBp^(QL?kFoiA*FgNR34hNQp!wNM;Y#L?l>d57ta1U}g{2R3vC-57t~Ha7c;g=&}I-0LjBuNMrxK"
            "EC2uiQ%H%^x_|%x071F{KmY(mF~CJJ$w-Ol4+Thx!AOJn{B-6>g}`_<x<CK`0KF{$002cX(nT@AMKQ@piReg)-VX&xgZTV(=}3e4KuE{I;Q#;sxBvhE07wr+"
            "$ViFETV2CJS4A<>Ns0GGF~C7qMKQ@iiT=I?00;m<RlflM001%4K~zD!DF6TfRZNNCQ%H>+1poj44+SyOi9{syNr@MQz<CYFL?rb8|NsB#<NyEwNr}WrWB7}c"
            "2mlBGMKRJyjk62@2mnPfz(q01xGDeu01pL7g}`{rNR5M-K?ndyjjNae2mnZlL?rk`i){cwjYa>1`2BY~i@N{-2mnNh?nN=uMKQodG08E~xat4^01pL7g}`|m"
            "M2YBw$^Y;Vu}uJV4oG8t1h@kL002md)(-_pgT)X?Icy~Ob*(Y>L5&nPf#UxI002md(MZAJ1V{ndi-DK{2mp<E|AYVib|^@};si*IloOZ%2mtUz53w?J6*0g>"
            "iJ_bU2mnZlfuI2h07;1#>k9wIf&Ksl004EYi$o;!TU|k1L0v&!L0`i`S25B>G15gbz(H0;G0C{P0000;iPk|?K~z;!NQwJMiPuPh?C1ah01pL7jV;3c|Nn_Y"
            "1VM?!NR5R600;m`i9>j}CjbBd4+T4g000O8bW}-+#zishLB9h4002UZge{l>2mt@cgZTY-8!^&JW4tY#0SEv^G15gbz(q01Oo{kNiPjGVF~CBJge{l>2mncg"
            "#Slq>{Qy7!0Cm4aiM0R#2mmqCL5&0yCI15e0Exj!!Qljpj47A_2mnDj%ybZi$#gFN!h!k#1ONba*XtsKz!^xv-~>pGv;_zN2mnZnRtQLmbR-x^h0=8y=}Q3s"
            "07#8=Bp5`A=jgfp|Nn`_={f-b01vkdNR0*I{Qv(uh=2hI0Cii7LJ))a2z3bmLKNv00RRAvNC8M|z&MFY5J-zl2uK0YNQp=oNQ+YtNQqD&NQ+Y#NQqD=NQ+Y-"
            "NQqD|NQ+Y_NQqE5NQ+Z2NQqEDNQ+ZQNQ+YVNQqEL>v}tggaHTub$N?Q6otuk2a7@wg}`+VgZTl2(f^4`6zQe_0095UNQ+Adi9!%aYrr^20nkW`a2QC5F-VJW"
            "AV`Z#2#IkBNQ-bNNQ+AlNQp5>i*PVVi%SrRaR^9@a5zYdOBhIrF-VJWKuC*AAV`TZNQ*#7NQpuSF~I410RR9yh=>6Q0Cf#Wi&GFti$e%Vi4g1LJBW+{2mo~#"
            "NQ-+2NQM7&4n&JW1Vx3wcm+g>2kXT<h>!sY0CWgDh?D^c0Cfd}IskRBi*5u+jYK3MNQvHw??{QlNQp!w2<Y|u|NlsZzz>Oz0000;WBo-j?LmXj|GfhM002yl"
            "HGBL2|3r!CNWtI)MmwZ1m;nd?bu3JY=t#lf1WApQ2ABZ|07Qx4@I()>I&~8<(nT@SMKQodG08}Y=tzmy4+Tm8#Yutv00aO4b+<^3bR-x=iRb9-`~Uw)i&P{C"
            "NQvHw$BD)0Z~OoMNQuI@=K}x$NQKf5h=2e907#8oBw$F3Oe7#ki$o+SNQKFD6-bLzBp67A(sW`-i%cXiNQp`a>sLts$xMq(Bv?#~L?lp5i&P{?NQ+b?KuC*p"
            "BsfTmd?YY+1P=x41x$(2|IkQ_R3r#UiQb9tM2Tc1WXD7#VE+IAe@KZ$Bxva9`v3n(g}`}=xaR`^07!wv=l}o!TU|k1L0v&!L0`j(_`^tv_(+NRNQwT63WUjY"
            "3`qaNfcY;-4@C0o?nsRlO#1)-NP)rt0SEwqIskMdNQv=4iaJ1q|8yBZIyrR+NdLk}|H13)iV8^o!i33n_v_fhfH?ql??{aW5c>cBNCkiZ2mr%KjRgYw|NqB;"
            "1ONyC0RR91F~Gxx_H{N$jRorY|Nn!y1ONyC0CXlX(nx{qhyVZpiI4;U2mnZl=f?yj|NsAg=+689|44zvhyVZp!@~"
        ),
        {"la_objopen": 1527, "la_activity": 1547, "la_objsearch": 1426, "la_version": 1423, "entry": 0},
    ),
    "aarch64": (
        (
            "{d>2m{R04z@Dl*J;D-UJ;*SEU<d*}f=AQ(q;6nnD;G+ep;D-in;*SSy;6nhBa{vI8{d>u%zyn{_=K}(&27Ex1-~$G#$Qgjr0uX@G0|1E91OR~21pt830RRBh"
            "9}obs0RR6~zybKT-~$G#;R6S%=ox_00tkT80|0>11OR~21pt830RRBh9}obs;Qs$q9{>XD-~)h?01%&=zyn{_>jMF*p#Xr=>H`2O$QXdqAOL{U0Rf=$0sw&0"
            "0|0>11OR~21pt83srmm90RRBhe*pmb=K}z$?gIcSfB^V54gi1>-~$dSzyn{_ECE810DM4`fiVD)Xc>Ugf(bym0RRBh;Qs%&CILc`FA+kK#$X1K?_ma!5CDJ@"
            "%>Y2TpalR?9}EC7r~&{~fB`_c;R6jSXb^zX0sw&00|0>11OR~21pt830RRBhfC2cnz<ghb9{>$&VE_PB(EI_2f&c$CzdHlfp#T6>C<lPj0RVu~zyyG~0RRBh"
            "#y|j({{aT;!TkSJ1OR|iLIDH|LnJ_wLL_|CA^`%6LI6UMK$t<f0R#Y1KMVjd=>Y&#BM}3OV*o;tV_*i6VSHbRKL7x0VE_PBYWxL=h5!FGzdHlfp#T6>N1Oq<"
            "U(f*gV*vp9!2kajgaiN)p8ybX;r#zpy#N0f{d=#e@&f>>NEU$7{R04z004l}0RVu~0sw&00|0>11OR~21pt83^HTw-^;-g|_ZtBD0RRBhX72wG^#cH^^aB7Y"
            "$pAu;h!ud+Kn4K0004l}Nj?Di0RRBh>H`3(AOS$RUjYDXpaK9?#{fc+%Me15=U@hrYhebF-~d3m00aP09}EC7C;<ReC<lPj0RVu~0sw&00|0>11OR~21pt83"
            "-~@oV0RRBh{{#WJe*p*ULH_?#Dggkw0sw$gfC2&w0VDtt03>|VAOQf20GL6!p8^1D00;n7fB*nALIeO2UjPts!T$eL;UfW&-~$yZZU6t5^8)}X_Co=Y;R6z?"
            ";sX|{-~$sXP5=Lw00sEAhv)wgbACXR=>S5J1^|H43IKo-z<hkuAOQf20GL6!p8^1DVFCbD;1C9j002Uf0AL1@0eoMGKL8YKVE_PB3j6|yg8%<DzdHlfAprnX"
            "C<lPj-~$t?0RVu~0sw&00|0>11OR~21pt830RRBh#smP7-vAKt;r#zp;UfW&-~$yZMF0Pn^8)}X;sX|{;R6z?CjbAJfDrh%^+N)Y_jeyM<|9R^W)1+g;3q)&"
            "U;qHL;WI$_0R#Z~-~$M%EC2u$AY=d$;e!n_AW$HS#sC0|<|hF8!URD1VgLZO(*!`d!T<jkLE!%oApk;=KmtH{BY;7<9{>YuK?DF)K@dQ>KOg{cp#T6>Komf^"
            "00aOLKokJE^8f!AAOrvrLk2+kKo9`A-~$0F0SAE600;q_0}KH9K?*?m0T2NBK@LFq0TclFK@vdu0T=-JK^8#y0UQANK^j2$0U!YRK_)=?A%Iu-0VDwV004l}"
            "^HV{o^;<%z_ZvX@{d>`<zyn{_BZNV@9{>YuK?DF)Komf^U;qF$K@dQ>p#T6i9{>Px;Rl}@0003?+W-F-AOrwW0SAE6Ko9`A00;q_K?Xqi0}Md<BLD#TK?Xqi"
            "0}w#@BM1PwK?*?m0~A2{BLD#TK?*?m0~kR0BM1PwK@LFq0~|p4BLD#TK@vdu10X>8BLD#T03<;9Km-8!*Z=<)BZxt{9{>YufdBwhK!!l60RRB`(f|J!BaA`0"
            "9{>Yu;Q#<sLk2+kqW}Q3L<B&&WB~X#WB>rU$p8NrBalJ49{>YufB*ngA(TP69{>Ss;q(7gKmb6w0Qmnkod5q9;0H#j;txlu<QGV(-vj{hVF3VC0RRBh;sX|{"
            ";R6+__frxn;7<Vg-~$sXqyGPw0Pz2|;Cz76vH$-U00BSN_W%DEzyn{_;R67w;{yPyA^<=+0s#OuA<_R3Apk;=ApiuCA^<=+!U6y^;sXP!2LJ#RAp`)CU%UWu"
            "V-SIw^#A`CAp`)CLIePjBmh7;<NyFPMF2oKzW@YlK>z<#A{0P4;{X3O@BjZ7LI6NHg8%<DK+gXV002Uf0007!zyn{_z|H><002UfApn3<0R#ZK004kezyn{_"
            "!2tj@;LQIJ002Uf0R%v~K>+|X{d>2m{R04z9|Qoo006KO;1dA3;6nhB-2VTU{d>u%zyn{_zyn{_"
        ),
        {"la_objopen": 1608, "la_activity": 1632, "la_objsearch": 1484, "la_version": 1480, "entry": 0},
    ),
}
